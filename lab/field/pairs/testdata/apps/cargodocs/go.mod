module cargodocs

go 1.26
