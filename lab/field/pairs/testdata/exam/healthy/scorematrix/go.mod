module scorematrix

go 1.26
