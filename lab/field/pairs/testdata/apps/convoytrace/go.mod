module convoytrace

go 1.26
