module assemblies

go 1.26
