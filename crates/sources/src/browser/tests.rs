mod calls;
mod devices;
mod fixture;
mod offers;
