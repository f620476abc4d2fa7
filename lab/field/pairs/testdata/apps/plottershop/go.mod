module plottershop

go 1.26
