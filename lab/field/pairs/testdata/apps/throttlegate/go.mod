module throttlegate

go 1.26
