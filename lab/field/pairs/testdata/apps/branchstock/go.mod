module branchstock

go 1.26
