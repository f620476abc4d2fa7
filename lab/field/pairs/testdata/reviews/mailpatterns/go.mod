module mailpatterns

go 1.26
