module blurphotos

go 1.25
