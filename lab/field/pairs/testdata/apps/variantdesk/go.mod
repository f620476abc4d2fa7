module variantdesk

go 1.26
