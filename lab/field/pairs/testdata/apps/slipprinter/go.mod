module slipprinter

go 1.26
