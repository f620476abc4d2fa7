module fileprints

go 1.26
