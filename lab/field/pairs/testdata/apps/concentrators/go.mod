module concentrators

go 1.26
