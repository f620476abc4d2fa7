module moderation

go 1.26
