module scanuploads

go 1.26
