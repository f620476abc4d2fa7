module invoicedupes

go 1.26
