module shopfilters

go 1.26
