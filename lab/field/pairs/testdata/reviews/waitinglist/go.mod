module waitinglist

go 1.26
