module auctionroom

go 1.26
