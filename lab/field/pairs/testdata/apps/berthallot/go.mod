module berthallot

go 1.26
