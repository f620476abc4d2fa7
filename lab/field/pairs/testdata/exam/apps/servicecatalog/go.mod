module servicecatalog

go 1.26
