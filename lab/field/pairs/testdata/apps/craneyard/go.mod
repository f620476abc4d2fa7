module craneyard

go 1.26
