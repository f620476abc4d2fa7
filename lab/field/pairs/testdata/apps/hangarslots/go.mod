module hangarslots

go 1.26
