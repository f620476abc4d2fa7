module canalsluices

go 1.26
