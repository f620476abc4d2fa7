module clearings

go 1.23
