module invoicepress

go 1.26
