module herbarium

go 1.26
