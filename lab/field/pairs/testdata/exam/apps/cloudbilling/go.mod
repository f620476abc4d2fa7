module cloudbilling

go 1.24
