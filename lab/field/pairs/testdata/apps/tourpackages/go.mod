module tourpackages

go 1.26
