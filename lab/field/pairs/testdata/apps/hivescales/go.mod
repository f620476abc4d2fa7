module hivescales

go 1.26
