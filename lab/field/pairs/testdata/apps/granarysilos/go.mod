module granarysilos

go 1.26
