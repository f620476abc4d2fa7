module homedashboard

go 1.26
