module wardboard

go 1.26
