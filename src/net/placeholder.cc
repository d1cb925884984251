// placeholder until the folder has its first file
