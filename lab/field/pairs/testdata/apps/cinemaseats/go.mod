module cinemaseats

go 1.26
