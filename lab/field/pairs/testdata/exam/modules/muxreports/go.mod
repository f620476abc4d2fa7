module muxreports

go 1.26

require github.com/gorilla/mux v1.7.3
