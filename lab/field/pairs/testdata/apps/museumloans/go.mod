module museumloans

go 1.26
