module newsfeedgzip

go 1.26
