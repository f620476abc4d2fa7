module parishrolls

go 1.26
