module parcelhooks

go 1.26
