module httprouterweather

go 1.26

require github.com/julienschmidt/httprouter v1.3.0
