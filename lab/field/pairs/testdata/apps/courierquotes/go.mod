module courierquotes

go 1.26
