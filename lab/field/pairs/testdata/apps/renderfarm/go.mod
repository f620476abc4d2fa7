module renderfarm

go 1.26
