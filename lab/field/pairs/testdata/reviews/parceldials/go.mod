module parceldials

go 1.26
