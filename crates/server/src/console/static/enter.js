// The token is for pages of this origin alone, which the cookie is not.

localStorage.setItem("madoguchi_console", document.getElementById("entered").dataset.form);
location.replace("/");
