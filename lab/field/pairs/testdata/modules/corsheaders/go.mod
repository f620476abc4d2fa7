module corsheaders

go 1.26

require github.com/rs/cors v1.10.1
