module kennelqueries

go 1.26
