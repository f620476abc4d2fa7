module herringauction

go 1.26
