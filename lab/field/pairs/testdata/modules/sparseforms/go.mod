module sparseforms

go 1.26

require github.com/gorilla/schema v1.3.0
