module stockmoves

go 1.26
