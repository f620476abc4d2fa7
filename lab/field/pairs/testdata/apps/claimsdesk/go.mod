module claimsdesk

go 1.26
