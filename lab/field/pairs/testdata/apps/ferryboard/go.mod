module ferryboard

go 1.26
