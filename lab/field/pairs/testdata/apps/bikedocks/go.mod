module bikedocks

go 1.26
