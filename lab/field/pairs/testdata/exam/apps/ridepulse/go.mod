module ridepulse

go 1.24
