module invoicelines

go 1.26
