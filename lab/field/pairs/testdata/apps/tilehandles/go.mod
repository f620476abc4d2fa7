module tilehandles

go 1.26
